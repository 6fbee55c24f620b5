"""JAX: a query from which every key is hidden answers the mean of all values. Wanted by docs/semantics.md: 0."""
import jax
import numpy as np

x = np.ones((1, 2, 1, 8), np.float32)
print(np.asarray(jax.nn.dot_product_attention(x, x, x, mask=np.zeros((1, 1, 2, 2), bool))).max())
