std = "lua54"
max_line_length = 100
cache = false

files["spec"].std = "+busted"
files["examples/*/spec"].std = "+busted"
files["scripts"].read_globals = { "http" }
files["examples/*/handlers"].read_globals = { "http" }
