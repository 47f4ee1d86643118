# Written by scripts/python_stubs: do not edit.
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from . import importers as importers
from . import plots as plots

__version__: str

# Arrays, lists, data frames, sparse matrices and torch tensors; what comes out is an array, or a tensor for a tensor.
Rows = Any
Path = Union[str, "os.PathLike[str]"]
RandomState = Union[None, int, np.random.RandomState]

class RunFailure(RuntimeError): ...

def get_num_threads() -> int: ...
def set_num_threads(threads: int) -> None: ...
def load_digits(part: str = "train") -> Tuple[np.ndarray, np.ndarray]: ...
def load(path: Path) -> Any: ...

@dataclass(frozen=True)
class Estimate:
    value: float
    interval: Tuple[float, float]
    kind: str
    method: str
    n: int = 0
    binarization: str = ""
    verdict: str = ""
    log_z: Optional["Estimate"] = None
    lower: Optional["Estimate"] = None
    upper_log_z: Optional["Estimate"] = None
    def __float__(self) -> float: ...

class RBM(TransformerMixin, BaseEstimator):
    n_features_in_: int
    n_updates_: int
    history_: List[Dict[str, float]]
    options_: Dict[str, Any]
    def __init__(
        self,
        n_components: Union[int, str] = 100,
        *,
        learning_rate: Optional[float] = None,
        batch_size: Optional[int] = None,
        n_iter: Optional[float] = None,
        updates: int = 10000,
        binarize: str = 'auto',
        shrink: float = 0.0,
        visible: str = 'auto',
        initial_weights: float = 0.0,
        coordinates: str = 'natural',
        gradient: str = 'auto',
        particles: int = 0,
        sweeps: Optional[int] = 1,
        sweeps_final: int = 0,
        mean_field_steps: int = 0,
        rungs: int = 10,
        fast_rate: float = 0.01,
        fast_decay: float = 0.95,
        optimizer: str = 'auto',
        damping: float = 0.01,
        damping_of: str = 'centered',
        statistics_every: int = 10,
        statistics_averaging: float = 100.0,
        refit_every: int = 100,
        rank: int = 50,
        iterations: int = 10,
        rate_weights: float = 0.0,
        rate_bias: float = 0.0,
        schedule: str = 'linear',
        schedule_tau: float = 1000.0,
        rate_warmup: int = 0,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        weight_decay_l1: float = 0.0,
        sparsity_target: float = 0.1,
        sparsity_cost: float = 0.0,
        averaging: float = 100.0,
        log_every: int = 0,
        device: str = 'cpu',
        precision: str = 'fast',
        image_shape: Optional[Tuple[int, int]] = None,
        monitor: bool = False,
        n_threads: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def components_(self) -> np.ndarray: ...
    @components_.setter
    def components_(self, value: Any) -> None: ...
    def fit(self, X: Rows, y: Rows = None) -> "RBM": ...
    def free_energy(self, X: Rows) -> Any: ...
    @classmethod
    def from_arrays(cls, W: Any, a: Any, b: Any, *, visible: str = 'bernoulli') -> "RBM": ...
    def gibbs(self, v: Rows, n_steps: int = 1) -> Any: ...
    @property
    def h_samples_(self) -> np.ndarray: ...
    @property
    def intercept_hidden_(self) -> np.ndarray: ...
    @intercept_hidden_.setter
    def intercept_hidden_(self, value: Any) -> None: ...
    @property
    def intercept_visible_(self) -> np.ndarray: ...
    @intercept_visible_.setter
    def intercept_visible_(self, value: Any) -> None: ...
    @classmethod
    def load(cls, path: Path) -> "RBM": ...
    def log_likelihood(
        self,
        X: Rows,
        y: Rows = None,
        method: str = 'auto',
        *,
        binarize: str = 'auto',
        random_state: RandomState = 0,
        **options: Any,
    ) -> Estimate: ...
    def log_z(self, method: str = 'auto', *, random_state: RandomState = 0, **options: Any) -> Estimate: ...
    def partial_fit(self, X: Rows, y: Rows = None) -> "RBM": ...
    @property
    def precision_visible_(self) -> np.ndarray: ...
    def sample(
        self,
        n_samples: int = 1,
        *,
        sweeps: Optional[int] = None,
        sampler: Optional[str] = None,
        means: bool = False,
        label: Any = None,
        random_state: RandomState = None,
    ) -> np.ndarray: ...
    def save(self, path: Path) -> None: ...
    def score(self, X: Rows, y: Rows = None) -> float: ...
    def score_samples(self, X: Rows) -> Any: ...
    def transform(self, X: Rows) -> Any: ...

class ClassificationRBM(ClassifierMixin, TransformerMixin, BaseEstimator):
    n_features_in_: int
    n_updates_: int
    history_: List[Dict[str, float]]
    options_: Dict[str, Any]
    classes_: np.ndarray
    def __init__(
        self,
        n_components: Union[int, str] = 100,
        *,
        learning_rate: Optional[float] = None,
        batch_size: Optional[int] = None,
        n_iter: Optional[float] = None,
        updates: int = 10000,
        binarize: str = 'auto',
        shrink: float = 0.0,
        visible: str = 'auto',
        initial_weights: float = 0.0,
        coordinates: str = 'natural',
        objective: str = 'generative',
        generative_weight: float = 0.01,
        gradient: str = 'auto',
        particles: int = 0,
        sweeps: Optional[int] = 1,
        sweeps_final: int = 0,
        mean_field_steps: int = 0,
        rungs: int = 10,
        fast_rate: float = 0.01,
        fast_decay: float = 0.95,
        optimizer: str = 'auto',
        damping: float = 0.01,
        damping_of: str = 'centered',
        statistics_every: int = 10,
        statistics_averaging: float = 100.0,
        refit_every: int = 100,
        rank: int = 50,
        iterations: int = 10,
        rate_weights: float = 0.0,
        rate_bias: float = 0.0,
        schedule: str = 'linear',
        schedule_tau: float = 1000.0,
        rate_warmup: int = 0,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        weight_decay_l1: float = 0.0,
        sparsity_target: float = 0.1,
        sparsity_cost: float = 0.0,
        averaging: float = 100.0,
        keep: str = 'auto',
        log_every: int = 0,
        device: str = 'cpu',
        precision: str = 'fast',
        image_shape: Optional[Tuple[int, int]] = None,
        monitor: bool = False,
        n_threads: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def components_(self) -> np.ndarray: ...
    @components_.setter
    def components_(self, value: Any) -> None: ...
    @property
    def components_label_(self) -> np.ndarray: ...
    def fit(self, X: Rows, y: Rows, X_valid: Rows = None, y_valid: Rows = None) -> "ClassificationRBM": ...
    def free_energy(self, X: Rows) -> Any: ...
    def gibbs(self, v: Rows, n_steps: int = 1) -> Any: ...
    @property
    def intercept_hidden_(self) -> np.ndarray: ...
    @intercept_hidden_.setter
    def intercept_hidden_(self, value: Any) -> None: ...
    @property
    def intercept_label_(self) -> np.ndarray: ...
    @property
    def intercept_visible_(self) -> np.ndarray: ...
    @intercept_visible_.setter
    def intercept_visible_(self, value: Any) -> None: ...
    @classmethod
    def load(cls, path: Path) -> "ClassificationRBM": ...
    def log_likelihood(
        self,
        X: Rows,
        y: Rows = None,
        method: str = 'auto',
        *,
        binarize: str = 'auto',
        random_state: RandomState = 0,
        **options: Any,
    ) -> Estimate: ...
    def log_z(self, method: str = 'auto', *, random_state: RandomState = 0, **options: Any) -> Estimate: ...
    def partial_fit(self, X: Rows, y: Rows, classes: Any = None) -> "ClassificationRBM": ...
    def predict(self, X: Rows) -> Any: ...
    def predict_log_proba(self, X: Rows) -> Any: ...
    def predict_proba(self, X: Rows) -> Any: ...
    def sample(
        self,
        n_samples: int = 1,
        *,
        sweeps: Optional[int] = None,
        sampler: Optional[str] = None,
        means: bool = False,
        label: Any = None,
        random_state: RandomState = None,
    ) -> np.ndarray: ...
    def save(self, path: Path) -> None: ...
    def score(self, X: Rows, y: Rows, sample_weight: Any = None) -> float: ...
    def score_samples(self, X: Rows) -> Any: ...
    def transform(self, X: Rows) -> Any: ...

class DBN(TransformerMixin, BaseEstimator):
    n_features_in_: int
    n_updates_: int
    history_: List[Dict[str, float]]
    options_: Dict[str, Any]
    def __init__(
        self,
        layers: Union[str, Sequence[Union[int, str]]] = (100, 100),
        *,
        learning_rate: Optional[float] = None,
        batch_size: Optional[int] = None,
        n_iter: Optional[float] = None,
        updates: int = 10000,
        binarize: str = 'auto',
        shrink: float = 0.0,
        visible: str = 'auto',
        initial_weights: float = 0.0,
        coordinates: str = 'natural',
        gradient: str = 'auto',
        particles: int = 0,
        sweeps: Optional[int] = 1,
        sweeps_final: int = 0,
        mean_field_steps: int = 0,
        rungs: int = 10,
        fast_rate: float = 0.01,
        fast_decay: float = 0.95,
        optimizer: str = 'auto',
        damping: float = 0.01,
        damping_of: str = 'centered',
        statistics_every: int = 10,
        statistics_averaging: float = 100.0,
        refit_every: int = 100,
        rank: int = 50,
        iterations: int = 10,
        rate_weights: float = 0.0,
        rate_bias: float = 0.0,
        schedule: str = 'linear',
        schedule_tau: float = 1000.0,
        rate_warmup: int = 0,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        weight_decay_l1: float = 0.0,
        sparsity_target: float = 0.1,
        sparsity_cost: float = 0.0,
        averaging: float = 100.0,
        log_every: int = 0,
        device: str = 'cpu',
        precision: str = 'fast',
        image_shape: Optional[Tuple[int, int]] = None,
        monitor: bool = False,
        n_threads: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def coefs_(self) -> List[np.ndarray]: ...
    @property
    def components_(self) -> np.ndarray: ...
    def fit(self, X: Rows, y: Rows = None) -> "DBN": ...
    def free_energy(self, X: Rows) -> Any: ...
    def gibbs(self, v: Rows, n_steps: int = 1) -> Any: ...
    @property
    def intercept_hidden_(self) -> np.ndarray: ...
    @property
    def intercept_visible_(self) -> np.ndarray: ...
    @property
    def intercepts_(self) -> List[np.ndarray]: ...
    @classmethod
    def load(cls, path: Path) -> "DBN": ...
    def log_likelihood(
        self,
        X: Rows,
        y: Rows = None,
        method: str = 'auto',
        *,
        binarize: str = 'auto',
        random_state: RandomState = 0,
        **options: Any,
    ) -> Estimate: ...
    def log_z(self, method: str = 'auto', *, random_state: RandomState = 0, **options: Any) -> Estimate: ...
    def sample(
        self,
        n_samples: int = 1,
        *,
        sweeps: Optional[int] = None,
        sampler: Optional[str] = None,
        means: bool = False,
        label: Any = None,
        random_state: RandomState = None,
    ) -> np.ndarray: ...
    def save(self, path: Path) -> None: ...
    def score(self, X: Rows, y: Rows = None) -> float: ...
    def score_samples(self, X: Rows) -> Any: ...
    def transform(self, X: Rows) -> Any: ...

class DBM(TransformerMixin, BaseEstimator):
    n_features_in_: int
    n_updates_: int
    history_: List[Dict[str, float]]
    options_: Dict[str, Any]
    def __init__(
        self,
        layers: Union[str, Sequence[Union[int, str]]] = (100, 100),
        *,
        learning_rate: Optional[float] = None,
        batch_size: Optional[int] = None,
        n_iter: Optional[float] = None,
        updates: int = 10000,
        binarize: str = 'auto',
        shrink: float = 0.0,
        visible: str = 'auto',
        pretrain: str = 'none',
        pretrain_updates: int = 0,
        initial_weights: float = 0.0,
        coordinates: str = 'natural',
        gradient: str = 'auto',
        particles: int = 0,
        sweeps: Optional[int] = 1,
        sweeps_final: int = 0,
        mean_field_steps: int = 0,
        rungs: int = 10,
        fast_rate: float = 0.01,
        fast_decay: float = 0.95,
        optimizer: str = 'auto',
        damping: float = 0.01,
        damping_of: str = 'centered',
        statistics_every: int = 10,
        statistics_averaging: float = 100.0,
        refit_every: int = 100,
        rank: int = 50,
        iterations: int = 10,
        rate_weights: float = 0.0,
        rate_bias: float = 0.0,
        schedule: str = 'linear',
        schedule_tau: float = 1000.0,
        rate_warmup: int = 0,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        weight_decay_l1: float = 0.0,
        sparsity_target: float = 0.1,
        sparsity_cost: float = 0.0,
        averaging: float = 100.0,
        log_every: int = 0,
        device: str = 'cpu',
        precision: str = 'fast',
        image_shape: Optional[Tuple[int, int]] = None,
        monitor: bool = False,
        n_threads: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def coefs_(self) -> List[np.ndarray]: ...
    @property
    def components_(self) -> np.ndarray: ...
    def fit(self, X: Rows, y: Rows = None) -> "DBM": ...
    def free_energy(self, X: Rows) -> Any: ...
    def gibbs(self, v: Rows, n_steps: int = 1) -> Any: ...
    @property
    def intercept_hidden_(self) -> np.ndarray: ...
    @property
    def intercept_visible_(self) -> np.ndarray: ...
    @intercept_visible_.setter
    def intercept_visible_(self, value: Any) -> None: ...
    @property
    def intercepts_(self) -> List[np.ndarray]: ...
    @classmethod
    def load(cls, path: Path) -> "DBM": ...
    def log_likelihood(
        self,
        X: Rows,
        y: Rows = None,
        method: str = 'auto',
        *,
        binarize: str = 'auto',
        random_state: RandomState = 0,
        **options: Any,
    ) -> Estimate: ...
    def log_z(self, method: str = 'auto', *, random_state: RandomState = 0, **options: Any) -> Estimate: ...
    def partial_fit(self, X: Rows, y: Rows = None) -> "DBM": ...
    def sample(
        self,
        n_samples: int = 1,
        *,
        sweeps: Optional[int] = None,
        sampler: Optional[str] = None,
        means: bool = False,
        label: Any = None,
        random_state: RandomState = None,
    ) -> np.ndarray: ...
    def save(self, path: Path) -> None: ...
    def score(self, X: Rows, y: Rows = None) -> float: ...
    def score_samples(self, X: Rows) -> Any: ...
    def transform(self, X: Rows) -> Any: ...
