CREATE TABLE audit (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at DOUBLE NOT NULL, 
	user TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	act TEXT NOT NULL, 
	what TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	host TEXT
);

CREATE TABLE cases (
	run INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	saved_at DOUBLE NOT NULL, 
	PRIMARY KEY (run)
);

CREATE TABLE heard (
	channel TEXT NOT NULL, 
	ts TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (channel)
);

CREATE TABLE inbox (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	handled_at DOUBLE, 
	UNIQUE (id)
);

CREATE INDEX inbox_open ON inbox (number) WHERE handled_at IS NULL;

CREATE TABLE letters (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	thread TEXT NOT NULL, 
	run INTEGER, 
	body TEXT NOT NULL, 
	status TEXT NOT NULL, 
	due_at DOUBLE NOT NULL, 
	tries INTEGER NOT NULL, 
	uncertain BOOLEAN NOT NULL, 
	executor TEXT, 
	opening TEXT, 
	claimed_at DOUBLE, 
	ts TEXT, 
	link TEXT, 
	why TEXT, 
	added_at DOUBLE NOT NULL, 
	ended_at DOUBLE, 
	UNIQUE ("key")
);

CREATE INDEX letters_run ON letters (run);

CREATE INDEX letters_status ON letters (status, id);

CREATE INDEX letters_thread ON letters (channel, thread, status);

CREATE TABLE opinions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	"right" BOOLEAN NOT NULL, 
	reason TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	UNIQUE (run, user)
);

CREATE TABLE runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	host TEXT, 
	host_key TEXT, 
	port INTEGER, 
	channel TEXT NOT NULL, 
	thread TEXT NOT NULL, 
	user TEXT NOT NULL, 
	text TEXT NOT NULL, 
	message TEXT NOT NULL, 
	asked_at DOUBLE NOT NULL, 
	began_at DOUBLE, 
	ended_at DOUBLE, 
	joins INTEGER, 
	about INTEGER, 
	stop_by TEXT, 
	restarts INTEGER NOT NULL, 
	category TEXT, 
	headline TEXT, 
	UNIQUE ("key")
);

CREATE INDEX runs_host ON runs (host_key, state);

CREATE INDEX runs_joins ON runs (joins);

CREATE INDEX runs_state ON runs (state, id);

CREATE INDEX runs_thread ON runs (channel, thread);

CREATE INDEX runs_user ON runs (user, asked_at);

CREATE TABLE schema_version (
	version INTEGER NOT NULL
);

CREATE TABLE spending (
	day TEXT NOT NULL, 
	tokens BIGINT NOT NULL, 
	usd DOUBLE NOT NULL, 
	PRIMARY KEY (day)
);
