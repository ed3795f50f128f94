"""What would be five machines, on one: PostgreSQL with a replica, Redis, nginx, two web processes and two workers."""
