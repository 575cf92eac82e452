"""Privacy accounting: from the releases that an algorithm declares to the composed budget."""
