"""Durable workflows: queues, executors, the sweep and nightly schedules."""
