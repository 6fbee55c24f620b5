/* The built-in kernel called as the audit calls anybody's: one query, two equal keys with values 1 and 3. */
#include <attest/builtin.h>
#include <math.h>
#include <stdio.h>

static DLTensor tensor(float* data, int64_t* shape, int64_t* strides) {
  DLTensor result = {.data = data, .device = {kDLCPU, 0}, .ndim = 4, .dtype = {kDLFloat, 32, 1}};
  result.shape = shape;
  result.strides = strides;
  return result;
}

int main(void) {
  float q[] = {1, 2}, k[] = {3, 4, 3, 4}, v[] = {1, 3}, o[] = {0};
  int64_t q_shape[] = {1, 1, 1, 2}, k_shape[] = {1, 1, 2, 2}, v_shape[] = {1, 1, 2, 1}, o_shape[] = {1, 1, 1, 1};
  int64_t q_strides[] = {2, 2, 2, 1}, k_strides[] = {4, 4, 2, 1}, v_strides[] = {2, 2, 1, 1},
          o_strides[] = {1, 1, 1, 1};
  DLTensor tq = tensor(q, q_shape, q_strides), tk = tensor(k, k_shape, k_strides), tv = tensor(v, v_shape, v_strides),
           to = tensor(o, o_shape, o_strides);
  attest_call call = {.abi_version = ATTEST_KERNEL_ABI, .q = &tq, .k = &tk, .v = &tv, .out = &to};
  call.scale = NAN;
  call.left = call.right = -1;
  attest_status status = attest_attention(&call);
  attest_release_memory();
  printf("%s: status %d, O = %g\n", attest_kernel_name(), (int)status, (double)o[0]);
  return status == ATTEST_OK && o[0] == 2 ? 0 : 1;
}
