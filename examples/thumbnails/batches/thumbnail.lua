-- Makes a thumbnail of each image. Ids: paths of images; config: { to = folder, size = pixels }. To
-- do it twice does no harm: the second thumbnail takes the place of the first.
local ppm = require "lib.ppm"

return {
  retries = 2,
  run = function(job, ids, config)
    for _, path in ipairs(ids) do
      local name = path:match("[^/]+$")
      local small = ppm.scale(ppm.read(path), config.size)
      ppm.write(("%s/%s"):format(config.to, name), small)
      job:log(("%s: %d × %d"):format(name, small.width, small.height))
    end
  end,
}
