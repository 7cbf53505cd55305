"""Models of requests and answers, for the OpenAPI schema."""
