cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${WORK}/prefix ${WORK}/consumer ${WORK}/without)

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed: ${ARGN}")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/consumer
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)

# A component without its library is left out; where it is needed, that is said in a sentence.
set(configure_without ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer
    -B ${WORK}/without -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${CXX}
    -D CMAKE_DISABLE_FIND_PACKAGE_sodium=ON)
run(${configure_without} -D NEEDS_ALL=OFF)
execute_process(COMMAND ${configure_without} -D NEEDS_ALL=ON
    RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(status EQUAL 0 OR NOT said MATCHES "component sodium is not there")
    message(FATAL_ERROR "a missing library was not reported: ${said}")
endif()
