// A shared library target needs one source of its own; everything real comes from the layers.
