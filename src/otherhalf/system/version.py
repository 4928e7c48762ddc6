"""The version of the package, in a module that everything may import."""

VERSION = "0.2.0"
