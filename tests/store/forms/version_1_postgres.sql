CREATE TABLE audit (
	id SERIAL NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	"user" TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	act TEXT NOT NULL, 
	what TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	host TEXT, 
	PRIMARY KEY (id)
);

CREATE TABLE cases (
	run INTEGER NOT NULL, 
	body BYTEA NOT NULL, 
	saved_at DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (run)
);

CREATE TABLE heard (
	channel TEXT NOT NULL, 
	ts TEXT NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (channel)
);

CREATE TABLE inbox (
	number SERIAL NOT NULL, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	handled_at DOUBLE PRECISION, 
	PRIMARY KEY (number), 
	UNIQUE (id)
);

CREATE INDEX inbox_open ON inbox (number) WHERE handled_at IS NULL;

CREATE TABLE letters (
	id SERIAL NOT NULL, 
	key TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	thread TEXT NOT NULL, 
	run INTEGER, 
	body TEXT NOT NULL, 
	status TEXT NOT NULL, 
	due_at DOUBLE PRECISION NOT NULL, 
	tries INTEGER NOT NULL, 
	uncertain BOOLEAN NOT NULL, 
	executor TEXT, 
	opening TEXT, 
	claimed_at DOUBLE PRECISION, 
	ts TEXT, 
	link TEXT, 
	why TEXT, 
	added_at DOUBLE PRECISION NOT NULL, 
	ended_at DOUBLE PRECISION, 
	PRIMARY KEY (id), 
	UNIQUE (key)
);

CREATE INDEX letters_run ON letters (run);

CREATE INDEX letters_status ON letters (status, id);

CREATE INDEX letters_thread ON letters (channel, thread, status);

CREATE TABLE opinions (
	id SERIAL NOT NULL, 
	run INTEGER NOT NULL, 
	"user" TEXT NOT NULL, 
	"right" BOOLEAN NOT NULL, 
	reason TEXT NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run, "user")
);

CREATE TABLE runs (
	id SERIAL NOT NULL, 
	key TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	host TEXT, 
	host_key TEXT, 
	port INTEGER, 
	channel TEXT NOT NULL, 
	thread TEXT NOT NULL, 
	"user" TEXT NOT NULL, 
	text TEXT NOT NULL, 
	message TEXT NOT NULL, 
	asked_at DOUBLE PRECISION NOT NULL, 
	began_at DOUBLE PRECISION, 
	ended_at DOUBLE PRECISION, 
	joins INTEGER, 
	about INTEGER, 
	stop_by TEXT, 
	restarts INTEGER NOT NULL, 
	category TEXT, 
	headline TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (key)
);

CREATE INDEX runs_host ON runs (host_key, state);

CREATE INDEX runs_joins ON runs (joins);

CREATE INDEX runs_state ON runs (state, id);

CREATE INDEX runs_thread ON runs (channel, thread);

CREATE INDEX runs_user ON runs ("user", asked_at);

CREATE TABLE schema_version (
	version INTEGER NOT NULL
);

CREATE TABLE spending (
	day TEXT NOT NULL, 
	tokens BIGINT NOT NULL, 
	usd DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (day)
);
