"""The parts that SVG pictures of plots are made of."""
