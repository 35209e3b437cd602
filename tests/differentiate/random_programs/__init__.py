"""Random programs: a file of the generator for each group of constructs, the judge, and the run."""
