// XLA's integer arithmetic: x / 0 is -1, x % 0 is x, and overflow wraps around.
#define DIVISOR(y) ((y) == 0 ? 1 : (y))
#define OVERFLOWS(t, y) ((t)-1 < 0 && (y) == (t)-1)
#define DIV(t, u, x, y) ((y) == 0 ? (t)-1 : OVERFLOWS(t, y) ? (t)(0 - (u)(x)) : (t)((x) / DIVISOR(y)))
#define REM(t, x, y) ((y) == 0 ? (x) : OVERFLOWS(t, y) ? (t)0 : (t)((x) % DIVISOR(y)))
#define SHIFT(t, u, x, sign, by) ((u64)(by) < 8 * sizeof(t) ? (t)((u)(x) sign (by)) : (t)0)
#define SHIFT_SIGNED(t, s, x, by) ((t)((s)(x) >> ((u64)(by) < 8 * sizeof(t) ? (by) : 8 * sizeof(t) - 1)))
// NaN propagates, and -0 is less than 0.
#define FMAX(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : (x) > (y) || ((x) == (y) && !signbit(x)) ? (x) : (y))
#define FMIN(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : (x) < (y) || ((x) == (y) && signbit(x)) ? (x) : (y))
// Conversion from float saturates at the limits of the type; NaN becomes 0.
#define LEAST(t) ((t)-1 < 0 ? (t)((u64)1 << (8 * sizeof(t) - 1)) : (t)0)
#define MOST(t) ((t)~LEAST(t))
#define TRUNCATE(t, x) ((x) >= (f32)MOST(t) ? MOST(t) : (x) < (f32)LEAST(t) ? LEAST(t) : (x) == (x) ? (t)(x) : (t)0)
