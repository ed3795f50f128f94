"""Tests of the investor's API and of the wall around it."""
