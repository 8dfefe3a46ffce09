"""The engine around the mechanism: a small mixture-of-experts model, its all-to-all, and its runner."""

from .all2all import LinkModel
from .model import ModelConfig, MoETransformer
from .runner import MODES, GPUModelRunner, Request, StepOutput

__all__ = ["MODES", "GPUModelRunner", "LinkModel", "MoETransformer", "ModelConfig", "Request", "StepOutput"]
