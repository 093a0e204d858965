"""The AWS emulator of the deploy tests: ministack, with the parts of AWS that this project needs and ministack lacks.

Every handler keeps what it is given in ministack's own services, so that their Describe and Get calls show it.
Nothing is accepted silently: a property that a handler does not know makes the stack fail.
"""
