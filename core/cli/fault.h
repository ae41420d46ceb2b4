/* fault.h - a file of the store that is mapped into memory was cut short: who touches what is gone
 * gets a signal from the system, and the program ends with a sentence and 74. */
#pragma once

void fault_setup(void);
