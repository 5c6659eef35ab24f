// A shared library target needs one source of its own. All code comes from the layers.
