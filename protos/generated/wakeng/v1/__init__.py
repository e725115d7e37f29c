"""Generated code and stubs of the protos `wakeng.v1`; written by `make protos`."""
