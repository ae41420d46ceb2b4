/* fault.h - a file of the store that is mapped into memory was cut short: who touches what is gone
 * gets a signal from the system, and the program ends with a sentence and 74. */
#ifndef MOONSHIFT_CLI_FAULT_H
#define MOONSHIFT_CLI_FAULT_H

void fault_setup(void);

#endif
