"""What is asked and answered, as the OpenAPI schema tells it."""
