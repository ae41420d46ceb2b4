-- Runs once all thumbnails are there: puts them side by side into one image, in the order of their
-- names. The batch tells which it was; its config tells where they are.
local ppm = require "lib.ppm"

local COLUMNS = 6

local function names_in(folder)
  local names = {}
  local pipe <close> = assert(io.popen(("ls '%s'"):format(folder)))
  for name in pipe:lines() do
    names[#names + 1] = name
  end
  return names
end

-- The row of pixels `y` of a cell of size × size that holds `image`, white around it.
local function row_of(image, y, size)
  local white = "\255\255\255"
  if not image or y >= image.height then
    return white:rep(size)
  end
  local width = image.width * 3
  return image.pixels:sub(y * width + 1, (y + 1) * width) .. white:rep(size - image.width)
end

return function(job)
  local config = job.engine:batch(job.payload.batch).config
  local images = {}
  for i, name in ipairs(names_in(config.to)) do
    images[i] = ppm.read(("%s/%s"):format(config.to, name))
  end
  local rows, lines = (#images + COLUMNS - 1) // COLUMNS, {}
  for row = 0, rows - 1 do
    for y = 0, config.size - 1 do
      for column = 1, COLUMNS do
        lines[#lines + 1] = row_of(images[row * COLUMNS + column], y, config.size)
      end
    end
  end
  ppm.write(config.sheet, {
    width = COLUMNS * config.size,
    height = rows * config.size,
    pixels = table.concat(lines),
  })
  return { thumbnails = #images }
end
