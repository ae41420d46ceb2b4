-- Writes C that holds each file named on the command line, for core/base/embedded.h.
local function bytes(text)
  local out = {}
  for i = 1, #text do
    local byte = text:byte(i)
    out[#out + 1] = (byte < 128 and byte or byte - 256) .. (i % 20 == 0 and ",\n" or ",")
  end
  out[#out + 1] = "0"
  return table.concat(out)
end

print('#include "base/embedded.h"\n')
for i, path in ipairs(arg) do
  local text = assert(io.open(path, "rb")):read("a")
  print(("static const char file_%d[] = {%s};"):format(i, bytes(text)))
end
print("\nconst struct embedded embedded_files[] = {")
for i, path in ipairs(arg) do
  print(('    {"%s", file_%d, sizeof file_%d - 1},'):format(path, i, i))
end
print("    {0, 0, 0}};")
