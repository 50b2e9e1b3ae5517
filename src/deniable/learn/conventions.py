"""What scikit-learn expects of every estimator, without needing it: parameters, copies, tags, one error."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Literal, Self

from deniable.errors import ParameterError


class Conventions:
    """Parameters are the arguments of `__init__`, kept under their names and looked at only in `fit`."""

    kind: ClassVar[Literal["regressor", "classifier"]]

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the arguments by name, as they were given."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set arguments by name; return self.

        Raises:  ParameterError: there is no such argument.
        """
        for name, value in params.items():
            if name not in self._names():
                raise ParameterError("params", name, "is no parameter", f"Write {', '.join(self._names())}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not None
        )
        return f"{type(self).__name__}({shown})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks about an estimator; called by nothing else."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        classifies = self.kind == "classifier"
        return Tags(
            estimator_type=self.kind,
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=ClassifierTags(poor_score=True, multi_class=False) if classifies else None,
            regressor_tags=None if classifies else RegressorTags(poor_score=True),
            input_tags=InputTags(),
            non_deterministic=True,
        )


def not_fitted(model: object) -> Exception:
    """Return the error of a model that has learnt nothing yet; scikit-learn's own where it is installed."""
    words = f"This {type(model).__name__} instance is not fitted yet. Call 'fit' first."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return AttributeError(words)
    error: Exception = NotFittedError(words)
    return error
