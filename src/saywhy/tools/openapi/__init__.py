"""OpenAPI descriptions as definitions of HTTP tools: references, schemas, security, operations."""
