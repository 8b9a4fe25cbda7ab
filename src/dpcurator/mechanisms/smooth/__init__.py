"""Mechanisms that use local sensitivity without revealing it: smooth sensitivity, propose-test-release."""
