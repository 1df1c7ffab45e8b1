# Compiles one source twice, without and with MISTAKE defined:
#
#   // expect: text that an error line shows       // expect-gcc:  // expect-clang:  one compiler
#   // expect-note: text that a note line shows    // expect-note-gcc:  // expect-note-clang:
#   // level: warning     the mistake draws a warning: `expect` then reads warning lines
#   // lines: 25          the longest output a user should have to read
#   #if defined(MISTAKE)
#   ... what a user would write by mistake
#   #else
#   ... its twin, which compiles without a word
#   #endif
#
# Expected texts are plain text, not patterns; quotes are '. Lines that echo the source do not count: a line of a
# diagnostic says "error:", "warning:" or "note:" after the place.
cmake_policy(VERSION 3.25)

function(compile out status)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
            ${CXX} ${FLAGS} -fsyntax-only ${ARGN} ${SOURCE}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
    set(${out} "${output}" PARENT_SCOPE)
    set(${status} "${result}" PARENT_SCOPE)
endfunction()

function(complain text)
    message("${text}\n")
    set(complaints TRUE PARENT_SCOPE)
endfunction()

# Brackets and semicolons mean something in CMake lists; both sides of a comparison lose them.
function(plain out text)
    string(REPLACE "[" "(" text "${text}")
    string(REPLACE "]" ")" text "${text}")
    string(REPLACE ";" "," text "${text}")
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

file(READ ${SOURCE} source)
plain(source "\n${source}")
set(level error)
if(source MATCHES "\n// level: warning")
    set(level warning)
endif()
set(most 25)
if(source MATCHES "\n// lines: ([0-9]+)")
    set(most ${CMAKE_MATCH_1})
endif()
set(compiler gcc)
if(COMPILER MATCHES "Clang")
    set(compiler clang)
endif()
string(REGEX MATCHALL "\n// expect(-note)?(-${compiler})?: [^\n]+" expectations "${source}")
if(expectations STREQUAL "")
    complain("no line `// expect: <text>` for ${compiler}")
endif()
if(source MATCHES "\n// [^\n]+expect[a-z-]*: ")
    complain("two expectations in one line")
endif()
if(NOT source MATCHES "\n#if !?defined\\(MISTAKE\\)\n")
    complain("no `#if defined(MISTAKE)`")
endif()

compile(output status -Werror)
if(NOT status EQUAL 0 OR NOT output STREQUAL "")
    complain("the twin does not compile without a word:\n${output}")
endif()

compile(output status -DMISTAKE)
plain(shown "${output}")
if(level STREQUAL error AND status EQUAL 0)
    complain("the mistake compiles")
endif()
if(level STREQUAL warning AND NOT status EQUAL 0)
    complain("the mistake is an error, not a warning")
endif()
string(REGEX MATCHALL "[^\n]*\n" lines "${shown}")
foreach(expectation IN LISTS expectations)
    string(REGEX MATCH "expect(-note)?[a-z-]*: (.*)" text "${expectation}")
    string(STRIP "${CMAKE_MATCH_2}" text)
    set(kind ${level})
    if(CMAKE_MATCH_1)
        set(kind note)
    endif()
    set(found FALSE)
    foreach(line IN LISTS lines)
        string(FIND "${line}" "${text}" at)
        if(line MATCHES ": (fatal )?${kind}: " AND at GREATER_EQUAL 0)
            set(found TRUE)
        endif()
    endforeach()
    if(NOT found)
        complain("no ${kind} says: ${text}")
    endif()
endforeach()
list(LENGTH lines count)
if(count GREATER most)
    complain("${count} lines of output, at most ${most} wanted")
endif()

if(complaints)
    message("the output for the mistake (${compiler}, ${count} lines):\n${output}")
    message(FATAL_ERROR "not as ${SOURCE} says")
endif()
