"""What a person types where no change may restart the server: per launcher, with the new flags in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from tools.change.change import Change, Edit
from tools.change.edits import edited
from tools.engine import Launcher

Lines = list[str]


def by_hand(launcher: Launcher, change: Change, edits: Sequence[Edit]) -> tuple[str, ...]:
    """Return the lines in the order in which they are done; pure, and without secrets.

    Names in capitals are the person's to fill in. A server that a change may restart gets lines too.
    """
    lines = _BY_KIND[launcher.kind](launcher, change)
    last = [f"# the whole command line afterwards: {_line(edited(launcher.command, edits))}"]
    if "<dropped>" in launcher.command:
        last.append("# where <dropped> stands, what stands there now stays: it is not shown")
    return (*_difference(change, edits), *lines, *last)


def _line(words: Sequence[str]) -> str:
    return " ".join(word if word == "<dropped>" else shlex.quote(word) for word in words)


def _difference(change: Change, edits: Sequence[Edit]) -> Lines:
    out = sorted({edit.drop[0] for edit in edits if edit.drop and not edit.add})
    put = [_line(edit.add) for edit in edits if edit.add]
    found = [f"# take out: {', '.join(out)}"] if out else []
    found += (
        [f"# put in, in place of what is there of the same name: {' '.join(put)}"] if put else []
    )
    found += [
        f"# set the variable {name}={shlex.quote(value)}" for name, value in change.env.items()
    ]
    return found + [f"# take out the variable {name}" for name in change.unset_env]


def _kubernetes(launcher: Launcher, change: Change) -> Lines:
    pod = launcher.pod or "POD"
    owner = "{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}"
    env = [f"{name}={shlex.quote(value)}" for name, value in change.env.items()]
    env += [f"{name}-" for name in change.unset_env]
    return [
        f"kubectl get pods -A | grep {pod}   # its namespace",
        f"kubectl -n NAMESPACE get pod {pod} -o jsonpath='{owner}'",
        "# a ReplicaSet belongs to the Deployment of the same name without its last part",
        "kubectl -n NAMESPACE edit deployment/NAME   # the args of the container, as said above",
        *([f"kubectl -n NAMESPACE set env deployment/NAME {' '.join(env)}"] if env else []),
        "kubectl -n NAMESPACE rollout status deployment/NAME",
        "kubectl -n NAMESPACE rollout undo deployment/NAME   # takes it back",
    ]


def _slurm(launcher: Launcher, _: Change) -> Lines:
    job = (launcher.job or "Slurm JOBID").rpartition(" ")[2]
    return [
        f"scontrol write batch_script {job} old.sh && cp old.sh new.sh",
        "${EDITOR:-vi} new.sh   # the server's flags, as said above",
        f"scancel {job} && sbatch new.sh",
        "scancel NEW_JOBID && sbatch old.sh   # takes it back",
    ]


def _supervised(launcher: Launcher, _: Change) -> Lines:
    held = launcher.supervisor or "its supervisor"
    script = next((row.script for row in launcher.parents if row.script), None) or "NAME"
    known = {
        "supervisord": ["${EDITOR:-vi} /etc/supervisor/conf.d/NAME.conf   # command=",
                        "supervisorctl reread && supervisorctl update NAME"],
        "runit": [f"${{EDITOR:-vi}} /etc/service/{script}/run", f"sv restart {script}"],
        "s6": [f"${{EDITOR:-vi}} /run/service/{script}/run", f"s6-svc -r /run/service/{script}"],
        "daemontools": [f"${{EDITOR:-vi}} /service/{script}/run", f"svc -t /service/{script}"],
        "pm2": ["pm2 delete NAME && pm2 start ... -- FLAGS && pm2 save"],
    }  # fmt: skip
    if held.startswith("a shell loop"):
        return _loop(launcher)
    return known.get(
        held, [f"change the flags where {held} has them, and let it restart the server"]
    )


def _loop(launcher: Launcher) -> Lines:
    loop = next((row for row in launcher.parents if row.loops), None)
    if loop is None or not loop.script:
        return [
            f"# end the loop first, then the server (kill {launcher.pid}), and type the loop anew with the new flags"
        ]
    return [
        f"${{EDITOR:-vi}} {shlex.quote(loop.script)}   # the server's flags, as said above",
        f"kill {loop.pid} && kill {launcher.pid}   # the loop first: it has read the old text",
        f"nohup bash {shlex.quote(loop.script)} >> LOG 2>&1 &   # as it was started before",
    ]


def _systemd(launcher: Launcher, _: Change) -> Lines:
    ctl = "systemctl --user" if launcher.unit_user is not None else "systemctl"
    unit = launcher.unit or "UNIT"
    return [
        f"{ctl} cat {unit}   # where ExecStart takes the flags from: its own line, a script, a variable",
        f"{ctl} edit {unit}   # ExecStart= once empty, then whole; or edit that script or file",
        f"{ctl} daemon-reload && {ctl} restart {unit}",
        f"# to take it back, put the old ExecStart in again, then: {ctl} daemon-reload && {ctl} restart {unit}",
    ]


def _docker(launcher: Launcher, _: Change) -> Lines:
    run, name = launcher.runtime or "docker", launcher.container or "CONTAINER"
    return [
        f"{run} inspect {name}   # how it was made",
        f"{run} rename {name} {name}-old && {run} stop {name}-old",
        f"{run} run -d --name {name} OPTIONS {launcher.image or 'IMAGE'} COMMAND   # as it was made, with these flags",
        f"{run} rm -f {name} && {run} rename {name}-old {name} && {run} start {name}   # takes it back",
    ]


def _compose(launcher: Launcher, _: Change) -> Lines:
    files = launcher.compose_files or ("compose.yaml",)
    named = " ".join(f"-f {shlex.quote(file)}" for file in files)
    return [
        f"${{EDITOR:-vi}} {shlex.quote(files[0])}   # command: of {launcher.compose_service}",
        f"docker compose -p {launcher.compose_project} {named} up -d --no-deps {launcher.compose_service}",
    ]


def _plain(launcher: Launcher, _: Change) -> Lines:
    log = f" >> {shlex.quote(launcher.log_path)} 2>&1" if launcher.log_path else ""
    who = f"   # as {launcher.user}" if launcher.user != launcher.login else ""
    return [
        f"kill {launcher.pid}{who}",
        f"cd {shlex.quote(launcher.cwd or '/')} && nohup COMMAND{log} &   # the one below, in the same environment",
    ]


_BY_KIND: dict[str, Callable[[Launcher, Change], Lines]] = {
    "kubernetes": _kubernetes,
    "slurm": _slurm,
    "supervised": _supervised,
    "systemd": _systemd,
    "docker": _docker,
    "compose": _compose,
    "plain": _plain,
}
