"""The config.json of the model that is served."""

from __future__ import annotations

from pydantic import Field

from tools.engine import ModelConfig
from tools.errors import Unreadable
from tools.host import Command, script
from tools.probe import Probe, told
from tools.sglang.model_config import is_model_config, model_config, read_model_config


class ReadModelConfig(Probe[ModelConfig]):
    """Read the model's config.json: layers, heads, experts, precision.

    A person would type: cat MODEL/config.json.
    """

    port: int | None = Field(None, ge=1, le=65535, description="port of the server")

    def command(self) -> Command:
        """Find the model by the server's command line; a repository id in its Hugging Face cache."""
        port = (str(self.port),) if self.port else ()
        before = ("find_server", "find_package")
        return script("model_config", *port, after=before, max_bytes=2 << 20)

    def recognises(self, text: str, /) -> bool:
        """JSON that names a model type and its layers."""
        return is_model_config(text)

    def parse(self, stdout: str, /) -> ModelConfig:
        """Read the object that our script prints, or a config.json as it is."""
        if stdout.lstrip().startswith(('{"absent"', '{"failed"', '{"path"')):
            config = told(stdout).get("config")
            if not isinstance(config, dict):
                raise Unreadable("config.json is no JSON object")
            return model_config(config)
        return read_model_config(stdout)
