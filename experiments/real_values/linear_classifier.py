"""A multinomial logistic regression, for those who ask what features are worth."""

import numpy
import scipy.optimize


def classified(x, y, penalty):
    """Weights of the regression of ten classes, and their biases in the last row."""
    columns = x.shape[1] + 1
    x = numpy.concatenate([x, numpy.ones((len(x), 1), numpy.float32)], 1)
    target = numpy.eye(10, dtype=numpy.float32)[y]

    def loss(flat):
        w = flat.reshape(columns, 10).astype(numpy.float32)
        scores = x @ w
        scores -= scores.max(1, keepdims=True)
        log_p = scores - numpy.log(numpy.exp(scores).sum(1, keepdims=True))
        gradient = x.T @ (numpy.exp(log_p) - target) / len(x) + 2 * penalty * w
        return float(-(log_p * target).sum() / len(x) + penalty * (w**2).sum()), gradient.reshape(-1).astype(float)

    found = scipy.optimize.minimize(loss, numpy.zeros(columns * 10), jac=True, method="L-BFGS-B",
                                    options={"maxiter": 200})
    return found.x.reshape(columns, 10)


def errors(weights, x, y):
    return int(((x @ weights[:-1] + weights[-1]).argmax(1) != y).sum())


def chosen_by_validation(parts, labels, penalties):
    """The penalty with the fewest errors on `valid`, these errors, and those on `test`. Columns are standardized."""
    mean, deviation = parts["train"].mean(0), parts["train"].std(0) + 0.01
    seen = {part: (values - mean) / deviation for part, values in parts.items()}
    fits = {each: classified(seen["train"], labels["train"], each) for each in penalties}
    valid = {each: errors(fit, seen["valid"], labels["valid"]) for each, fit in fits.items()}
    penalty = min(valid, key=valid.get)
    return penalty, valid[penalty], errors(fits[penalty], seen["test"], labels["test"])


def interval(count, total):
    """Wilson's, of a share."""
    z, p = 1.96, count / total
    middle, half = p + z * z / (2 * total), z * numpy.sqrt(p * (1 - p) / total + z * z / (4 * total**2))
    return (middle - half) / (1 + z * z / total), (middle + half) / (1 + z * z / total)
