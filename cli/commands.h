/* One row a command, in the order of help: COMMAND(struct of cli/cmd_NAME.c). */
COMMAND(by_cmd_inspect)
COMMAND(by_cmd_check)
COMMAND(by_cmd_copy)
COMMAND(by_cmd_run)
COMMAND(by_cmd_list)
COMMAND(by_cmd_doctor)
COMMAND(by_cmd_version)
COMMAND(by_cmd_help)
