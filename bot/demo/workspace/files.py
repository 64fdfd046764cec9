"""files.*: the two steps of an upload, and what a download wants to see."""

from __future__ import annotations

import mimetypes
from typing import Any

from bot.demo.workspace.method import Answer, Args, Method, invalid, needed
from bot.demo.workspace.refused import Refused
from bot.demo.workspace.state import File, State

_TEXT = ("text", "log", "json", "yaml", "md", "py", "csv", "conf", "toml", "xml")


def kind_of(name: str) -> tuple[str, str]:
    """MIME type and Slack's file type, from the name."""
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    mime = mimetypes.guess_type(name)[0]
    if mime is None:
        mime = "text/plain" if ending in (*_TEXT, "", "txt") else "application/octet-stream"
    return mime, {"txt": "text", "": "text"}.get(ending, ending)


def wire(state: State, file: File) -> dict[str, Any]:
    """As messages and `files.info` show it."""
    base = f"{state.url}/files-pri/T0LAB-{file.id}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": file.mimetype,
        "filetype": file.filetype,
        "size": len(file.content) if file.ready else file.length,
        "user": file.user,
        "mode": "snippet" if file.snippet or file.mimetype.startswith("text/") else "hosted",
        "is_external": False,
        "file_access": "visible",
        "alt_txt": file.alt_text,
        "url_private": f"{base}/{file.name}",
        "url_private_download": f"{base}/download/{file.name}",
        "permalink": f"https://lab.slack.com/files/{file.user}/{file.id}/{file.name}",
        "preview": file.content[:500].decode(errors="replace")
        if file.mimetype.startswith("text/")
        else "",
    }


def keep(state: State, name: str, content: bytes, user: str) -> File:
    """A file that a person brings with a message."""
    mime, kind = kind_of(name)
    file = File(
        state.ids.next("F"),
        name,
        len(content),
        content,
        ready=True,
        mimetype=mime,
        filetype=kind,
        user=user,
    )
    state.files[file.id] = file
    return file


def upload_url(state: State, args: Args) -> Answer:
    """First step: where to send so many bytes (tier 4)."""
    name, length = needed(args, "filename", "length")
    if not length.isdigit() or int(length) < 1:
        raise invalid("must be greater than 0: length")
    mime, kind = kind_of(name)
    file = File(state.ids.next("F"), name, int(length), mimetype=mime, filetype=kind)
    file.alt_text, file.snippet = (
        str(args.get("alt_txt") or ""),
        str(args.get("snippet_type") or ""),
    )
    state.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{state.url}/upload/v1/{file.id}"}


def complete(state: State, args: Args) -> Answer:
    """Second step: share the files, in a thread when there is `thread_ts`; all in one message."""
    given = args.get("files")
    if not isinstance(given, list) or not given:
        raise invalid("missing required field: files")
    files = [_uploaded(state, one) for one in given]
    where = str(args.get("channel_id") or args.get("channels") or "")
    for channel_id in filter(None, where.split(",")):
        channel = state.channel({"channel": channel_id})
        state.post(
            channel,
            text=str(args.get("initial_comment") or ""),
            thread_ts=args.get("thread_ts"),
            files=[wire(state, f) for f in files],
            subtype="file_share",
        )
    return {"files": [wire(state, f) for f in files]}


def _uploaded(state: State, one: Any) -> File:
    file = state.files.get(str(one.get("id"))) if isinstance(one, dict) else None
    if file is None or not file.ready:
        raise Refused("file_not_found")
    file.title = str(one.get("title") or file.name)
    return file


def info(state: State, args: Args) -> Answer:
    """A file."""
    (file,) = needed(args, "file")
    if file not in state.files:
        raise Refused("file_not_found")
    return {"file": wire(state, state.files[file])}


METHODS = {
    "files.getUploadURLExternal": Method(upload_url, ("files:write",), tier=4),
    "files.completeUploadExternal": Method(complete, ("files:write",), tier=4),
    "files.info": Method(info, ("files:read",), tier=4),
}
