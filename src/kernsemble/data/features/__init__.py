"""Image features: GIST, HOG, bags of visual words in a spatial pyramid. Import from the submodules."""
