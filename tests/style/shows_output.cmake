# The page shows, word for word, what the program prints for each of the arguments.
#
#   cmake -D PROGRAM=... -D ARGUMENTS=a,b -D PAGE=... -P shows_output.cmake
cmake_policy(VERSION 3.25)
file(READ ${PAGE} page)
string(REPLACE "," ";" arguments "${ARGUMENTS}")
foreach(argument IN LISTS arguments)
    execute_process(COMMAND ${PROGRAM} ${argument}
        OUTPUT_VARIABLE printed RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR printed STREQUAL "")
        message(FATAL_ERROR "${PROGRAM} ${argument} prints nothing, or fails: ${status}")
    endif()
    string(FIND "${page}" "${printed}" at)
    if(at LESS 0)
        message("what is printed now:\n${printed}")
        message(FATAL_ERROR "${PAGE} does not show what ${PROGRAM} ${argument} prints")
    endif()
endforeach()
