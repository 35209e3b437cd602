"""usage: check_gradient.py FILE: is loss_grad in FILE the gradient of loss with respect to w, b, x and y?

Central differences, in a process that has nothing to do with the editor or the server.
"""
import runpy
import sys

import numpy as np

STEP = 1e-6


def central_differences(function, arguments, position):
    argument = np.asarray(arguments[position], dtype=float)
    gradient = np.empty_like(argument)
    for index in np.ndindex(argument.shape):
        values = []
        for step in (STEP, -STEP):
            moved = argument.copy()
            moved[index] += step
            values.append(function(*arguments[:position], moved, *arguments[position + 1:]))
        gradient[index] = (values[0] - values[1]) / (2 * STEP)
    return gradient


module = runpy.run_path(sys.argv[1])
rng = np.random.default_rng(7)
arguments = (rng.normal(size=3), 0.3, rng.normal(size=(8, 3)), rng.uniform(0.1, 0.9, size=8))
gradients = module["loss_grad"](*arguments)
assert len(gradients) == len(arguments), f"{len(gradients)} gradients of {len(arguments)} parameters"
for position, gradient in enumerate(gradients):
    expected = central_differences(module["loss"], arguments, position)
    assert np.shape(gradient) == expected.shape, f"parameter {position}: shape {np.shape(gradient)}"
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8, err_msg=f"parameter {position}")
print("gradient agrees with central differences")
