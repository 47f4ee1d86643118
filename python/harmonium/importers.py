def load(path):
    pass
