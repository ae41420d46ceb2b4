-- Images in the portable pixmap format (P6, a byte for each colour): reading, writing, scaling.
local ppm = {}

-- read(path) -> { width, height, pixels = a text of three bytes each }; raises its errors.
function ppm.read(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read("a")
  local width, height, start = text:match("^P6%s+(%d+)%s+(%d+)%s+255%s()")
  if not width then
    error(path .. ": not a P6 image", 0)
  end
  local image = { width = math.tointeger(width), height = math.tointeger(height) }
  local size = image.width * image.height * 3
  image.pixels = text:sub(start, start + size - 1)
  if #image.pixels < size then
    error(("%s: %d of %d bytes are there"):format(path, #image.pixels, size), 0)
  end
  return image
end

-- A reader of `path` sees the old file or the new one, never a part of it.
function ppm.write(path, image)
  local file = assert(io.open(path .. ".part", "wb"))
  assert(file:write(("P6\n%d %d\n255\n"):format(image.width, image.height), image.pixels))
  assert(file:close())
  assert(os.rename(path .. ".part", path))
end

-- The mean colour of the rectangle from (left, top) up to, but without, (right, bottom).
local function mean(image, left, top, right, bottom)
  local red, green, blue = 0, 0, 0
  for y = top, bottom - 1 do
    local at = (y * image.width + left) * 3 + 1
    for _ = left, right - 1 do
      local r, g, b = image.pixels:byte(at, at + 2)
      red, green, blue, at = red + r, green + g, blue + b, at + 3
    end
  end
  local count = (right - left) * (bottom - top)
  return string.char(red // count, green // count, blue // count)
end

-- scale(image, size) -> the image made smaller to fit into size × size pixels.
function ppm.scale(image, size)
  local longer = math.max(image.width, image.height)
  local width = math.max(1, image.width * size // longer)
  local height = math.max(1, image.height * size // longer)
  local pixels = {}
  for y = 0, height - 1 do
    local top, bottom = y * image.height // height, (y + 1) * image.height // height
    for x = 0, width - 1 do
      pixels[#pixels + 1] =
        mean(image, x * image.width // width, top, (x + 1) * image.width // width, bottom)
    end
  end
  return { width = width, height = height, pixels = table.concat(pixels) }
end

return ppm
