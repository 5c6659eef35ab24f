// Compiled with Lattice::simulation; its command line is what the test reads.
double advance(double position, double velocity, double dt_s);
double advance(double position, double velocity, double dt_s) {
  return position + velocity * dt_s;
}
