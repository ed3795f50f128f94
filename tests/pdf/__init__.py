"""Tests of PDF reports."""
