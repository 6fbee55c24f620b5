# 2^r of fast/simd/exponential-inl.hpp in f64, without fused multiply-add: |p/(2·2^r) − 1| ≤ 2u for every |r| ≤ 1/2.
# tests/proofs/exp2_script_test.cpp holds every line to the code: coefficients, order of evaluation, bounds.
#
# s is what the code computes, x the same without rounding, w = 2·2^r; p and its polynomial are doubled, as in the code.
# That x is within 25/64 u of w is the hypothesis: proofs/fast/algorithm/exp2_polynomial_proof.cpp proves it. Scaling by
# 2^(n−1) is exact. rnd underflows gradually where the kernel flushes to zero: no product below is subnormal unless |r|
# < 2^−100, and then both make p = 2.

@rnd = float<ieee_64, ne>;
r = rnd(any);
c1 = 0x1.62e42fefa39f3p-1;
c2 = 0x1.ebfbdff82c598p-3;
c3 = 0x1.c6b08d7048f31p-5;
c4 = 0x1.3b2ab6fba1e1cp-7;
c5 = 0x1.5d87fe7bbbdaap-10;
c6 = 0x1.4309130961342p-13;
c7 = 0x1.ffcbee3b244eep-17;
c8 = 0x1.62bfd49e6cb2p-20;
c9 = 0x1.b541676c00885p-24;
c10 = 0x1.e605fa3e4b8ebp-28;
c11 = 0x1.c063d7382cc2dp-32;

s11 = 2 * c11;
s10 = rnd(rnd(r * s11) + 2 * c10);
s9 = rnd(rnd(r * s10) + 2 * c9);
s8 = rnd(rnd(r * s9) + 2 * c8);
s7 = rnd(rnd(r * s8) + 2 * c7);
s6 = rnd(rnd(r * s7) + 2 * c6);
s5 = rnd(rnd(r * s6) + 2 * c5);
s4 = rnd(rnd(r * s5) + 2 * c4);
s3 = rnd(rnd(r * s4) + 2 * c3);
s2 = rnd(rnd(r * s3) + 2 * c2);
s1 = rnd(rnd(r * s2) + 2 * c1);
p = rnd(rnd(r * s1) + 2);

x11 = 2 * c11;
x10 = r * x11 + 2 * c10;
x9 = r * x10 + 2 * c9;
x8 = r * x9 + 2 * c8;
x7 = r * x8 + 2 * c7;
x6 = r * x7 + 2 * c6;
x5 = r * x6 + 2 * c5;
x4 = r * x5 + 2 * c4;
x3 = r * x4 + 2 * c3;
x2 = r * x3 + 2 * c2;
x1 = r * x2 + 2 * c1;
x = r * x1 + 2;

{ |r| <= 0.5 /\ |x -/ w| <= 0x1.9p-55 -> |p -/ w| <= 0x1p-52 }
$ r in 64;
