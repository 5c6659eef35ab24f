# Makes Doxygen see the ordinary comments of a C header: awk -f header_filter.awk FILE
# A comment that begins a line is about what follows it, one behind code about what stands before it.
/^[ \t]*\/\* -+/ { print; next }
/^[ \t]*\/\* / { sub(/\/\* /, "/** "); print; next }
/[;,{)] +\/\* / { sub(/\/\* /, "/**< "); print; next }
/^ +[A-Z_]+ = .*[0-9] +\/\* / { sub(/\/\* /, "/**< ") }
{ print }
