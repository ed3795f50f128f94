"""Parts of problems: findings of fields, and the calls that resolve a refusal."""
