"""Adam, without what torch's own class brings along."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

State = dict[str, Tensor]
"""``step``, ``exp_avg`` and ``exp_avg_sq`` of a parameter, as torch calls them."""


class Adam:
    r"""Adam (Kingma and Ba 2015) with weight decay as a part of the gradient.

    .. math:: g \leftarrow g + \lambda w, \quad m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad
              v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \quad
              w \leftarrow w - \eta \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}

    It calls the kernel of ``torch.optim.Adam(fused=True)``, and its weights are the same to the bit. That
    class imports torch's compiler before the first step, which takes one to two seconds: as long as a whole
    training on a small graph.

    Args:
        groups: Parameters, and the weight decay λ of each group.
        lr: Learning rate η.
    """

    def __init__(self, groups: Sequence[tuple[Sequence[nn.Parameter], float]], lr: float) -> None:
        self.lr = lr
        self.groups = [(list(parameters), decay) for parameters, decay in groups]
        self.parameters = [each for parameters, _ in self.groups for each in parameters]
        self.state: dict[nn.Parameter, State] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for each in self.parameters:
            each.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change the parameters that have a gradient."""
        for parameters, decay in self.groups:
            moved = [each for each in parameters if each.grad is not None]
            if not moved:
                continue
            states = [self._state(each) for each in moved]
            steps = [state["step"] for state in states]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                tuple(moved),
                [each.grad for each in moved if each.grad is not None],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                amsgrad=False,
                lr=self.lr,
                beta1=BETA1,
                beta2=BETA2,
                weight_decay=decay,
                eps=EPSILON,
                maximize=False,
                grad_scale=None,
                found_inf=None,
            )

    def state_dict(self) -> dict[int, State]:
        """Return the state of every parameter that was changed, by its position."""
        return {i: self.state[each] for i, each in enumerate(self.parameters) if each in self.state}

    def load_state_dict(self, states: dict[int, State]) -> None:
        """Take over a state that :meth:`state_dict` returned; raise ValueError if it is of another model."""
        for index, state in states.items():
            shape = self.parameters[index].shape if 0 <= index < len(self.parameters) else None
            wanted = {"step": torch.Size(), "exp_avg": shape, "exp_avg_sq": shape}
            if {name: value.shape for name, value in state.items()} != wanted:
                raise ValueError("its state of Adam is not that of the model")
        self.state = {
            self.parameters[index]: {
                name: _like(value, self.parameters[index]) for name, value in state.items()
            }
            for index, state in states.items()
        }

    def _state(self, parameter: nn.Parameter) -> State:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter, memory_format=torch.preserve_format),
                "exp_avg_sq": torch.zeros_like(parameter, memory_format=torch.preserve_format),
            }
        return self.state[parameter]


def _like(value: Tensor, parameter: nn.Parameter) -> Tensor:
    return value.to(parameter.device, torch.float32 if value.ndim == 0 else parameter.dtype, copy=True)
