"""The engine around the mechanism: a small mixture-of-experts model, its all-to-all, and its runner."""

from .all2all import LinkModel
from .batch import Request
from .dp import ParallelConfig, check_ubatch_thresholds, coordinate_batch_across_dp, why_not
from .model import ModelConfig, MoETransformer
from .runner import MODES, GPUModelRunner, StepOutput

__all__ = [
    "MODES",
    "GPUModelRunner",
    "LinkModel",
    "MoETransformer",
    "ModelConfig",
    "ParallelConfig",
    "Request",
    "StepOutput",
    "check_ubatch_thresholds",
    "coordinate_batch_across_dp",
    "why_not",
]
