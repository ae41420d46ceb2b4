-- The library that shows a program another wall clock: LD_PRELOAD.
return "/usr/lib/" .. io.popen("gcc -print-multiarch"):read("l") .. "/faketime/libfaketime.so.1"
