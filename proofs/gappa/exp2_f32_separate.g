# 2^r of fast/simd/exponential-inl.hpp in f32, without fused multiply-add: |p/(2·2^r) − 1| ≤ 2u for every |r| ≤ 1/2.
# tests/proofs/exp2_script_test.cpp holds every line to the code: coefficients, order of evaluation, bounds.
#
# s is what the code computes, x the same without rounding, w = 2·2^r; p and its polynomial are doubled, as in the code.
# That x is within 25/64 u of w is the hypothesis: proofs/fast/algorithm/exp2_polynomial_proof.cpp proves it. Scaling by
# 2^(n−1) is exact. rnd underflows gradually where the kernel flushes to zero: no product below is subnormal unless |r|
# < 2^−100, and then both make p = 2.

@rnd = float<ieee_32, ne>;
r = rnd(any);
c1 = 0x1.62e432p-1;
c2 = 0x1.ebfbe2p-3;
c3 = 0x1.c6ae72p-5;
c4 = 0x1.3b270ep-7;
c5 = 0x1.5f7278p-10;
c6 = 0x1.470b5p-13;

s6 = 2 * c6;
s5 = rnd(rnd(r * s6) + 2 * c5);
s4 = rnd(rnd(r * s5) + 2 * c4);
s3 = rnd(rnd(r * s4) + 2 * c3);
s2 = rnd(rnd(r * s3) + 2 * c2);
s1 = rnd(rnd(r * s2) + 2 * c1);
p = rnd(rnd(r * s1) + 2);

x6 = 2 * c6;
x5 = r * x6 + 2 * c5;
x4 = r * x5 + 2 * c4;
x3 = r * x4 + 2 * c3;
x2 = r * x3 + 2 * c2;
x1 = r * x2 + 2 * c1;
x = r * x1 + 2;

{ |r| <= 0.5 /\ |x -/ w| <= 0x1.9p-26 -> |p -/ w| <= 0x1p-23 }
$ r in 64;
