"""What holds a server up, by the names that a person types: its unit, container, or compose service."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tools.engine import Launcher


class HeldBy(BaseModel):
    """Names alone; all empty: a plain process. `owner` is the user whose systemd runs the unit, None: the system's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: str = ""
    owner: int | None = None
    runtime: str = ""  # docker or podman
    container: str = ""
    project: str = ""
    service: str = ""
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, launcher: Launcher) -> HeldBy:
        """Take the names of what was seen."""
        if launcher.kind == "systemd":
            return cls(unit=launcher.unit or "", owner=launcher.unit_user)
        if launcher.kind in ("docker", "compose"):
            return cls(
                runtime=launcher.runtime or "docker",
                container=launcher.container or "",
                project=launcher.compose_project or "",
                service=launcher.compose_service or "",
                files=launcher.compose_files,
            )
        return cls()
