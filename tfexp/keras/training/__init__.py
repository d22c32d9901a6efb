"""How models are compiled, trained, evaluated and used."""
