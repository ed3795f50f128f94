"""Whether the installation answers, whether it is ready, and what its errors mean."""
