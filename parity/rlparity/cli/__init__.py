"""Compare two implementations of a reinforcement-learning environment, step by step, bit for bit.

An engine is one implementation of an environment, such as the original or a port of it. A world is a rlparity.World
object in a Python module: it names the engines of an environment, its actions and what a state holds. The first engine
is the reference. `rlparity init` writes a small world to read and to change.

Examples:
    rlparity init my-port
    rlparity run --world my_module:WORLD
    rlparity run --engines gym:CartPole-v1,gymvec:CartPole-v1
"""
