// Arithmetic as XLA has it: a division by 0 gives -1 and leaves the dividend, and what overflows wraps.
#define DIVISOR(y) ((y) == 0 ? 1 : (y))
#define OVERFLOWS(t, y) ((t)-1 < 0 && (y) == (t)-1)
#define DIV(t, u, x, y) ((y) == 0 ? (t)-1 : OVERFLOWS(t, y) ? (t)(0 - (u)(x)) : (t)((x) / DIVISOR(y)))
#define REM(t, x, y) ((y) == 0 ? (x) : OVERFLOWS(t, y) ? (t)0 : (t)((x) % DIVISOR(y)))
#define SHIFT(t, u, x, sign, by) ((u64)(by) < 8 * sizeof(t) ? (t)((u)(x) sign (by)) : (t)0)
#define SHIFT_SIGNED(t, s, x, by) ((t)((s)(x) >> ((u64)(by) < 8 * sizeof(t) ? (by) : 8 * sizeof(t) - 1)))
// One that is no number stays; of the two zeros -0 is the smaller.
#define FMAX(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : (x) > (y) || ((x) == (y) && !signbit(x)) ? (x) : (y))
#define FMIN(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : (x) < (y) || ((x) == (y) && signbit(x)) ? (x) : (y))
// The nearest number that there is of one beyond all, 0 of what is none.
#define LEAST(t) ((t)-1 < 0 ? (t)((u64)1 << (8 * sizeof(t) - 1)) : (t)0)
#define MOST(t) ((t)~LEAST(t))
#define TRUNCATE(t, x) ((x) >= (f32)MOST(t) ? MOST(t) : (x) < (f32)LEAST(t) ? LEAST(t) : (x) == (x) ? (t)(x) : (t)0)
