"""The shell around every page: layout, header, sidebar and sockets."""
