"""The parts a picture is painted from: what is chosen, how it is measured, how each lane is drawn."""
